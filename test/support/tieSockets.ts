import type { Socket } from 'node:net';

/**
 * Ties the two sockets of a forwarded connection: when one closes, the other is destroyed. Errors are ignored, since a
 * close follows each.
 * @param open holds both sockets for as long as they are open
 */
export function tieSockets(client: Socket, upstream: Socket, open: Set<Socket>): void {
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    open.add(one);
    one.on('error', () => undefined);
    one.once('close', () => {
      open.delete(one);
      other.destroy();
    });
  }
}
