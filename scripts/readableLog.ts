/** Formats the service's log for a terminal. */

interface LoggedError {
  readonly message?: string;
}

/** Converts a JSON log line to a line for people: process, message and cause. Other lines are returned unchanged. */
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
