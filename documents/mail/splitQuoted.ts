/** A message's own text, and the earlier messages that it quotes at its end; null without any. */
export interface SplitMessage {
  readonly ownText: string;
  readonly quoted: string | null;
}

/**
 * Lines that mail programs write above a quoted message: "On … wrote:" and its translations into common European
 * languages. Quantifiers are bounded, because the lines are untrusted input.
 */
const ATTRIBUTION =
  /^(?:On|Am|Le|El|Il|Em|Op|Den|W dniu) .{1,300}(?:wrote|schrieb.{0,100}|a écrit|escribió|ha scritto|escreveu|schreef.{0,100}|skrev.{0,100}|napisał\(?a?\)?) ?:$/;
const DIVIDER =
  /^-{2,}\s?(?:Original Message|Forwarded message|Ursprüngliche Nachricht|Weitergeleitete Nachricht|Message d'origine|Mensaje original|Messaggio originale|Mensagem original|Oorspronkelijk bericht)\s?-{2,}$/i;
const HEADER_START = /^[*_]{0,2}(?:From|Von|De|Da|Van)[*_]{0,2}:[*_]{0,2}\s/;
const HEADER_NEXT =
  /^[*_]{0,2}(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado(?: el)?|Fecha|Inviato|Data|Verzonden)[*_]{0,2}:[*_]{0,2}\s/;

/** Number of lines after "From:" in which the date of a quoted message is expected. */
const HEADER_LINES = 3;

/**
 * Separates the earlier messages at the end of a reply. Quotations between the sender's own sentences stay in place,
 * because the answers need them.
 */
export function splitQuoted(text: string): SplitMessage {
  const lines = text.split('\n');
  const lastUnmarked = lines.findLastIndex((line) => line.trim() !== '' && !line.startsWith('>'));
  const start = lines.findIndex((_, at) => beginsQuotation(lines, at, lastUnmarked));
  if (start < 0) return { ownText: text, quoted: null };
  const ownText = lines.slice(0, start).join('\n').trimEnd();
  // If the sender added no words to a forwarded message, the forwarded message is the content.
  if (ownText.trim() === '') return { ownText: text, quoted: null };
  return { ownText, quoted: lines.slice(start).join('\n').trim() };
}

/** @param lastUnmarked index of the last line of text without the mark `>` */
function beginsQuotation(lines: readonly string[], at: number, lastUnmarked: number): boolean {
  const line = lines[at]?.trim() ?? '';
  if (DIVIDER.test(line)) return true;
  if (HEADER_START.test(line))
    return lines.slice(at + 1, at + 1 + HEADER_LINES).some((next) => HEADER_NEXT.test(next.trim()));
  // Programs break a long attribution into two lines.
  const attribution = line.endsWith(':') ? line : `${line} ${lines[at + 1]?.trim() ?? ''}`;
  if (line === '' || attribution.length > 500 || !ATTRIBUTION.test(attribution)) return false;
  // Without `>` marks, everything after the attribution is quoted. If the next line is marked, all others must be too.
  let next = at + (attribution === line ? 1 : 2);
  while (lines[next]?.trim() === '') next += 1;
  return next < lines.length && (lines[next]?.startsWith('>') !== true || next > lastUnmarked);
}
