"""A rewriter: it doubles every text."""

from pegboard import hookimpl


def double(call):
    return {**call.arguments, "text": call.arguments["text"] * 2} if "text" in call.arguments else None


@hookimpl
def pegboard_rewriters(settings):
    return [double]
