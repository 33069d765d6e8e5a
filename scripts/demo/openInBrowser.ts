import { spawn } from 'node:child_process';

/** Opens an address in the person's browser, where there is a display. It is printed anyhow: what fails here costs a click. */
export function openInBrowser(url: string): void {
  if (!process.env['DISPLAY'] && !process.env['WAYLAND_DISPLAY']) return;
  spawn('xdg-open', [url], { stdio: 'ignore', detached: true })
    .once('error', () => undefined)
    .unref();
}
