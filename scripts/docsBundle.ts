/** A route that the package adds to a Fastify server. */
interface Route {
  readonly url: string;
  handler(request: null, reply: Reply): string;
}
interface Reply {
  header(): Reply;
  send(body: string): string;
}
type Plugin = (server: object, options: object, next: () => void) => void;

/**
 * Returns the script of the page at /docs, from a package that serves it with Fastify. `@scalar/api-reference` has the
 * same script, but would install 284 packages of 311 MB.
 * @throws an error if the package serves no script
 */
export async function docsBundle(): Promise<string> {
  const { default: plugin } = (await import('@scalar/fastify-api-reference')) as unknown as { default: Plugin };
  const routes: Route[] = [];
  const server = { route: (route: Route) => routes.push(route), hasPlugin: () => false, initialConfig: {} };
  plugin(server, { routePrefix: '/docs', configuration: { url: 'openapi.json' } }, () => undefined);
  const found = routes.find(({ url }) => url.endsWith('.js'));
  if (!found) throw new Error('@scalar/fastify-api-reference serves no script: adapt scripts/docsBundle.ts');
  const reply: Reply = { header: () => reply, send: (body) => body };
  return found.handler(null, reply);
}
