import { drip, raw, type Trap } from './trap.js';

/**
 * Time limits for a service that reads these traps. With these limits only small pages are requested, because the time
 * for a large page depends on the machine. The limit for a whole page is far above the limits for one pause, so that a
 * busy machine does not exceed it first.
 */
export const SLOWNESS_LIMITS = { HEADERS_TIMEOUT_MS: '4000', BODY_TIMEOUT_MS: '4000', PAGE_TIMEOUT_MS: '16000' };

function* forever(piece: string): Generator<string> {
  for (;;) yield piece;
}

/** Slow answers, for a service that tries each page twice (RETRY_DELAYS_S has one delay). */
export const SLOWNESS_TRAPS: readonly Trap[] = [
  {
    // Takes longer in total than the limit for one pause.
    name: 'slow-but-whole',
    page: drip(['<p>Word', ...Array.from({ length: 25 }, () => ' after word'), '.'], 200),
    outcome: { words: ['Word after word after word'] },
  },
  {
    name: 'slow-without-end',
    page: drip(forever('<p>more'), 200),
    outcome: { sentence: /did not send its complete response within 16 s/, requests: 2 },
  },
  {
    name: 'stalls',
    page: raw('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 99\r\n\r\n<p>half', { open: true }),
    outcome: { sentence: /sent no further part of its response/, requests: 2 },
  },
  {
    name: 'never-answers',
    page: () => undefined,
    outcome: { sentence: /did not begin to answer within 4 s/, requests: 2 },
  },
];
