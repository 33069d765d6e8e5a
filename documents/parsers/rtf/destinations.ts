/** Groups of an RTF file without text of the document. */
export const NO_TEXT: ReadonlySet<string> = new Set([
  'colortbl',
  'pict',
  'object',
  'fldinst',
  'themedata',
  'colorschememapping',
  'datastore',
  'latentstyles',
  'listtable',
  'listoverridetable',
  'revtbl',
  'rsidtbl',
  'generator',
  'xmlnstbl',
  'mmathPr',
  'pgptbl',
  'filetbl',
  'bkmkstart',
  'bkmkend',
  'atnid',
  'atrfstart',
  'atrfend',
  'nonshppict',
  'pntxta',
  'pntxtb',
  'template',
  'wgrffmtfilter',
  'formfield',
  'userprops',
]);

/** Groups that are marked as optional but contain text. */
export const OPTIONAL_TEXT: ReadonlySet<string> = new Set([
  'shptxt',
  'shpinst',
  'pntext',
  'listtext',
  'footnote',
  'annotation',
  'atnauthor',
  'fldrslt',
]);

/** Control words that represent characters. */
export const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['tab', ' '],
  ['line', '\n'],
  ['softline', '\n'],
  ['emdash', '—'],
  ['endash', '–'],
  ['bullet', '•'],
  ['lquote', '‘'],
  ['rquote', '’'],
  ['ldblquote', '“'],
  ['rdblquote', '”'],
  ['emspace', ' '],
  ['enspace', ' '],
  ['qmspace', ' '],
  ['~', ' '],
  ['_', '-'],
  ['{', '{'],
  ['}', '}'],
  ['\\', '\\'],
]);

/** Code pages by the character set of a font. */
export const CHARSETS: ReadonlyMap<number, string> = new Map([
  [77, 'macroman'],
  [128, 'cp932'],
  [129, 'cp949'],
  [134, 'cp936'],
  [136, 'cp950'],
  [161, 'windows-1253'],
  [162, 'windows-1254'],
  [163, 'windows-1258'],
  [177, 'windows-1255'],
  [178, 'windows-1256'],
  [186, 'windows-1257'],
  [204, 'windows-1251'],
  [222, 'windows-874'],
  [238, 'windows-1250'],
]);

/** Groups that are reported as not read, and their kind. */
export const UNREAD: ReadonlyMap<string, string> = new Map([
  ['pict', 'pictures'],
  ['shppict', 'pictures'],
  ['object', 'embedded_files'],
]);

/** A backslash before a line end also ends a paragraph: TextEdit writes only this form. */
export const PARAGRAPH_ENDS: ReadonlySet<string> = new Set(['par', 'sect', 'page', '\n', '\r']);

/** Metadata fields of a document, with their names in file_metadata. */
export const INFO: ReadonlyMap<string, string> = new Map([
  ['title', 'title'],
  ['author', 'author'],
  ['subject', 'subject'],
  ['keywords', 'keywords'],
  ['doccomm', 'description'],
]);

/**
 * Groups outside of \info whose text is collected apart from the document's text: the name of a style, the author of a
 * comment, the instruction of a field.
 */
export const CAPTURED: ReadonlySet<string> = new Set(['style', 'atnauthor', 'fldinst']);
