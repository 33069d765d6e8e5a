"""Error responses with the Qdrant server's wording, and the conversion of the engine's exceptions to them."""


class Refusal(Exception):
    """A request that is refused with a status and a reason."""

    def __init__(self, status, reason):
        super().__init__(reason)
        self.status = status
        self.reason = reason


def wrong_input(reason):
    return Refusal(400, f"Wrong input: {reason}")


def bad_format(reason):
    return Refusal(400, f"Format error in JSON body: {reason}")


def invalid(field, reason):
    return Refusal(422, f"Validation error in JSON body: [{field}: {reason}]")


def not_found(reason):
    return Refusal(404, f"Not found: {reason}")


def as_refusal(error):
    """Returns the refusal for an exception that a request handler raised."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, KeyError):
        return bad_format(f"missing field `{error.args[0]}`")
    if isinstance(error, (TypeError, ValueError, AttributeError, OverflowError)):
        return bad_format(str(error).splitlines()[0])
    reason = str(error)
    if type(error) is not Exception:
        return Refusal(500, f"Service internal error: {type(error).__name__}: {reason}")
    # The engine has one class for all its errors; only the messages differ.
    if "Shard is not initialized" in reason:
        return not_found("The collection was deleted")
    if reason.startswith("No point with id"):
        return not_found(f"{reason} found")
    if reason.startswith("Service runtime error"):
        return Refusal(500, reason)
    return wrong_input(reason)
