/** Which process listens on a port, as Linux tells it. */
import { readdir, readFile, readlink } from 'node:fs/promises';

/** The state LISTEN in /proc/net/tcp. */
const LISTEN = '0A';

/** Sockets of this machine that listen on a port, by inode. */
async function listenersOn(port: number): Promise<Set<string>> {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((row) => row.trim().split(/\s+/));
  // Number, local address, remote address, state; the inode is the tenth.
  const listening = rows.filter(([, local, , state]) => state === LISTEN && local?.endsWith(ending));
  return new Set(listening.map((row) => `socket:[${row[9]}]`));
}

/** Whether a process itself listens on a port. That the port answers is no sign of it: another may have been quicker. */
export async function listensOn(pid: number, port: number): Promise<boolean> {
  const sockets = await listenersOn(port);
  if (sockets.size === 0) return false;
  const folder = `/proc/${pid}/fd`;
  // One that is closed meanwhile is none of those.
  const links = (await readdir(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => ''));
  return (await Promise.all(links)).some((link) => sockets.has(link));
}
