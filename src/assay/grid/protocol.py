"""The version of what a question and an answer mean."""

#: Raised by hand when rendering or scoring changes meaning: every observation is then asked anew.
#: Golden prompts and scores in the tests fail when the meaning changes without it.
PROTOCOL_VERSION = 1
