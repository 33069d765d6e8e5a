import { spawn } from 'node:child_process';

/** Opens a URL in the user's browser on an X11 or Wayland desktop. Ignores failures: the URL is printed too. */
export function openInBrowser(url: string): void {
  if (!process.env['DISPLAY'] && !process.env['WAYLAND_DISPLAY']) return;
  spawn('xdg-open', [url], { stdio: 'ignore', detached: true })
    .once('error', () => undefined)
    .unref();
}
