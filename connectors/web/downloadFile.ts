import type { Egress } from '../../egress/types.js';
import type { Download } from '../types.js';
import { statusFault } from '../statusFault.js';
import type { WebSettings } from './webSettings.js';

/** Messages for the caller, who chose the address. */
const SENTENCES = {
  404: 'does not exist. Check the address.',
  410: 'was removed permanently. Use another address.',
} as const;

/**
 * Fetches a file without conversion.
 * @param take receives the stream and reads it to the end; if it throws, the rest is discarded
 */
export async function downloadFile<T>(
  {
    egress,
    settings,
    now,
  }: {
    readonly egress: Egress;
    readonly settings: Pick<WebSettings, 'maxDownloadBytes' | 'downloadTimeoutMs'>;
    readonly now: () => number;
  },
  url: string,
  signal: AbortSignal,
  take: (file: Download) => Promise<T>,
): Promise<T> {
  const answer = await egress.request({
    url,
    signal,
    headers: { accept: '*/*' },
    maxBytes: settings.maxDownloadBytes,
    totalTimeoutMs: settings.downloadTimeoutMs,
  });
  try {
    const fault = statusFault('The file', answer, now(), SENTENCES);
    if (fault) throw fault;
    return await take({
      contentType: answer.headers['content-type'] ?? null,
      name: nameIn(answer.headers['content-disposition'] ?? ''),
      finalUrl: answer.url,
      body: answer.body,
    });
  } catch (error) {
    await answer.discard();
    throw error;
  }
}

/** Returns the file name of a Content-Disposition header. The encoded form takes precedence. */
function nameIn(header: string): string | null {
  const encoded = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header)?.[1];
  const plain = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header);
  const name = decoded(encoded) ?? plain?.[1]?.replaceAll(/\\(.)/g, '$1') ?? plain?.[2] ?? '';
  return name.replace(/^.*[/\\]/s, '').trim() || null;
}

function decoded(text: string | undefined): string | null {
  try {
    return text === undefined ? null : decodeURIComponent(text);
  } catch {
    return null;
  }
}
