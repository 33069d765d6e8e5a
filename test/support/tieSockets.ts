import type { Socket } from 'node:net';

/**
 * Connects the lifetimes of the two sockets of a forwarded connection: when one closes, the other is destroyed. Errors
 * are ignored, because a close event follows each.
 * @param open holds both sockets while they are open
 */
export function tieSockets(client: Socket, upstream: Socket, open: Set<Socket>): void {
  for (const [socket, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      open.delete(socket);
      other.destroy();
    });
  }
}
