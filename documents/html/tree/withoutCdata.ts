const CDATA = /<!\[CDATA\[/g;
/**
 * Replacement for the start of a section, of the same length, so that offsets do not change. It starts a comment that
 * ends at the next `>`.
 */
const COMMENT = '<!-CDATA-';

/**
 * Returns a page in which the starts of CDATA sections are comments, as browsers read them in HTML. The tokenizer would
 * take everything up to `]]>`, which pages often lack, as text without tags.
 */
export function withoutCdata(html: string): string {
  return html.includes('<![CDATA[') ? html.replaceAll(CDATA, COMMENT) : html;
}
