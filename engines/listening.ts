/** Finds out from Linux's /proc which process listens on a port. */
import { readdir, readFile, readlink } from 'node:fs/promises';

/** State LISTEN in /proc/net/tcp: https://www.kernel.org/doc/html/latest/networking/proc_net_tcp.html */
const LISTEN = '0A';

/** Returns the inodes of the sockets on this machine that listen on a port. */
async function listenersOn(port: number): Promise<Set<string>> {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((row) => row.trim().split(/\s+/));
  // Fields: number, local address, remote address, state. The inode is the tenth.
  const listening = rows.filter(([, local, , state]) => state === LISTEN && local?.endsWith(ending));
  return new Set(listening.map((row) => `socket:[${row[9]}]`));
}

/**
 * Returns whether the process itself listens on the port. An open port is no proof: another process may have taken it.
 */
export async function listensOn(pid: number, port: number): Promise<boolean> {
  const sockets = await listenersOn(port);
  if (sockets.size === 0) return false;
  const folder = `/proc/${pid}/fd`;
  // A descriptor that is closed in the meantime is skipped.
  const links = (await readdir(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => ''));
  return (await Promise.all(links)).some((link) => sockets.has(link));
}
