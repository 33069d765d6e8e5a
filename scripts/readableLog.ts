/** The service's log for a person at a terminal. */

interface LoggedError {
  readonly message?: string;
}

/** Returns a JSON line of the log as one sentence: who, what, and why; any other line as it is. */
export function readableLog(line: string): string {
  const fields = parse(line);
  if (typeof fields !== 'object' || fields === null || !('msg' in fields)) return line;
  const { name, msg, err, error } = fields as { name?: string; msg: string; err?: LoggedError; error?: LoggedError };
  const why = (err ?? error)?.message?.split('\n', 1)[0];
  return [name, msg, why].filter(Boolean).join(': ');
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
