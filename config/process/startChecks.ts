/** Checks of the machine before anything is started. */
import { access, constants, mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';

import { StartError } from '../../contract/startError.js';

/** Checks that a server can listen on a port of a host; port 0 means any free port. @throws StartError */
export async function checkPort(host: string, port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)));
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

/** Returns the reason why a server cannot listen, and what to do. */
export function cannotListen({ code, message }: NodeJS.ErrnoException, host: string, port: number): StartError {
  if (code === 'EADDRINUSE')
    return new StartError(
      `Port ${port} of ${host} is in use by another program. Stop that program, or set PORT to a free port.`,
    );
  if (code === 'EACCES')
    return new StartError(`This user may not listen on port ${port}. Set PORT to a port above 1023.`);
  return new StartError(`The API cannot listen on port ${port} of ${host}: ${message}. Correct HOST and PORT.`);
}

/**
 * Creates a folder unless it exists.
 * @param setting the setting that names the folder
 * @throws StartError if this process cannot write to it
 */
export async function checkFolder(folder: string, setting: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StartError(
      `${setting} cannot be written: ${(error as Error).message}. ` +
        `Make it a folder that user ${process.getuid?.()} may write, or set ${setting} to another one.`,
    );
  }
}
