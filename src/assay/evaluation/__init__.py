"""The evaluation core: any runner's records to a diagnosis, hypotheses, experiments, decisions."""
