import { afterEach, expect, test } from '@jest/globals';

import { startHttpProxy } from '../../emulators/httpProxy.js';
import { serve } from '../../egress/loopback.js';
import { closeSources, fetchOne, source, text } from '../../connectors/web/webSource.js';

afterEach(closeSources);

test('a page that rejects direct requests is rendered through the pool of premium proxies', async () => {
  const page = '<p id=p></p><script>p.textContent = "made " + "by script"</script>';
  const site = await serve((request, response) => {
    if (request.headers['x-through'] === undefined) response.writeHead(403).end();
    else if (request.url === '/robots.txt') response.writeHead(404).end();
    else response.writeHead(200, { 'Content-Type': 'text/html' }).end(page);
  });
  const proxy = await startHttpProxy('home', 'ann:secret');
  try {
    const web = source({ premiumProxies: [proxy.url] });
    const found = await fetchOne(web, `${site.origin}/p`, { usePremiumProxies: true, downloadCssAndMedia: true });
    expect(found.fetchedWith).toBe('browser_premium_proxy');
    expect(text(found)).toContain('made by script');
    expect(proxy.forwarded).toContain(`GET ${site.origin}/p`);
  } finally {
    await proxy.close();
  }
});
