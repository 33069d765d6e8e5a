import iconv from 'iconv-lite';

/** The encoding that an Outlook message states for its texts, if it does not store them in Unicode. */
interface StatedEncoding {
  readonly messageCodepage?: number | undefined;
  readonly internetCodepage?: number | undefined;
  readonly messageLocaleId?: number | undefined;
}

/** Code pages of Windows with numbers other than 125x. */
const WINDOWS_CODE_PAGES: ReadonlySet<number> = new Set([874, 932, 936, 949, 950]);

/**
 * Code pages of Windows by the primary language of a locale (the lower ten bits of its number), except 1252 (western
 * European).
 */
const BY_LANGUAGE: ReadonlyMap<number, number> = new Map([
  [0x01, 1256],
  [0x02, 1251],
  [0x05, 1250],
  [0x08, 1253],
  [0x0d, 1255],
  [0x0e, 1250],
  [0x11, 932],
  [0x12, 949],
  [0x15, 1250],
  [0x18, 1250],
  [0x19, 1251],
  [0x1a, 1250],
  [0x1b, 1250],
  [0x1c, 1250],
  [0x1e, 874],
  [0x1f, 1254],
  [0x20, 1256],
  [0x22, 1251],
  [0x23, 1251],
  [0x24, 1250],
  [0x25, 1257],
  [0x26, 1257],
  [0x27, 1257],
  [0x29, 1256],
  [0x2a, 1258],
  [0x2c, 1254],
  [0x2f, 1251],
  [0x3f, 1251],
  [0x40, 1251],
  [0x43, 1254],
  [0x44, 1251],
  [0x50, 1251],
]);
/** Cyrillic locales of languages that are also written in Latin letters: Serbian, Bosnian, Azerbaijani, Uzbek. */
const CYRILLIC_LOCALES: ReadonlySet<number> = new Set([
  0x0c1a, 0x1c1a, 0x201a, 0x281a, 0x301a, 0x6c1a, 0x641a, 0x082c, 0x0843,
]);
const CHINESE_LANGUAGE = 0x04;
/** Locales of traditional Chinese: Taiwan, Hong Kong, Macao. */
const TRADITIONAL_CHINESE_LOCALES: ReadonlySet<number> = new Set([0x0404, 0x0c04, 0x1404]);

/**
 * Returns the encoding of the texts that a message stores in a code page instead of Unicode: the stated code page of
 * the message. Without one, the code page of the sender's language. Without a language, the internet code page if it is
 * a Windows code page; otherwise western European (1252).
 * https://learn.microsoft.com/openspecs/exchange_server_protocols/ms-oxcmsg
 */
export function messageCharset({ messageCodepage, internetCodepage, messageLocaleId }: StatedEncoding): string {
  const language = (messageLocaleId ?? 0) & 0x3ff;
  const byLocale =
    language === CHINESE_LANGUAGE
      ? TRADITIONAL_CHINESE_LOCALES.has(messageLocaleId ?? 0)
        ? 950
        : 936
      : CYRILLIC_LOCALES.has(messageLocaleId ?? 0)
        ? 1251
        : BY_LANGUAGE.get(language);
  const isWindowsCodePage = (page: number): boolean => WINDOWS_CODE_PAGES.has(page) || (page >= 1250 && page <= 1258);
  const byInternet = internetCodepage !== undefined && isWindowsCodePage(internetCodepage) ? internetCodepage : 1252;
  const page = messageCodepage ?? (messageLocaleId === undefined ? byInternet : (byLocale ?? 1252));
  if (page === 65_001) return 'utf-8';
  return iconv.encodingExists(`cp${page}`) ? `cp${page}` : 'cp1252';
}

/** Names of the code pages of HTML bodies, in addition to those of Windows (125x) and ISO 8859. */
const HTML_CHARSETS: ReadonlyMap<number, string> = new Map([
  [65_001, 'utf-8'],
  [932, 'shift_jis'],
  [936, 'gbk'],
  [949, 'euc-kr'],
  [950, 'big5'],
  [20_866, 'koi8-r'],
  [50_220, 'iso-2022-jp'],
]);

/** Returns the media type of a message's HTML body with its encoding; null if the code page is absent or unknown. */
export function htmlType(internetCodepage: number | undefined): string | null {
  const page = internetCodepage ?? 0;
  let charset = HTML_CHARSETS.get(page);
  if (page >= 1250 && page <= 1258) charset = `windows-${page}`;
  // ISO 8859-1 to 8859-15.
  if (page > 28_590 && page <= 28_605) charset = `iso-8859-${page - 28_590}`;
  return charset === undefined ? null : `text/html; charset=${charset}`;
}
