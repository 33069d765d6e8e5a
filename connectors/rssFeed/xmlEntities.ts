/** Entities of HTML that feeds use without declaring them. */
const NAMES =
  'nbsp 160 iexcl 161 cent 162 pound 163 yen 165 sect 167 copy 169 laquo 171 shy 173 reg 174 deg 176 plusmn 177 acute 180 middot 183 raquo 187 frac12 189 iquest 191 ' +
  'Agrave 192 Aacute 193 Acirc 194 Atilde 195 Auml 196 Aring 197 AElig 198 Ccedil 199 Egrave 200 Eacute 201 Ecirc 202 Euml 203 Iacute 205 Ntilde 209 Oacute 211 Ouml 214 times 215 Oslash 216 Uacute 218 Uuml 220 szlig 223 ' +
  'agrave 224 aacute 225 acirc 226 atilde 227 auml 228 aring 229 aelig 230 ccedil 231 egrave 232 eacute 233 ecirc 234 euml 235 igrave 236 iacute 237 icirc 238 iuml 239 ntilde 241 ograve 242 oacute 243 ocirc 244 otilde 245 ouml 246 oslash 248 ugrave 249 uacute 250 ucirc 251 uuml 252 ' +
  'ndash 8211 mdash 8212 lsquo 8216 rsquo 8217 sbquo 8218 ldquo 8220 rdquo 8221 bdquo 8222 bull 8226 hellip 8230 lsaquo 8249 rsaquo 8250 euro 8364 trade 8482 larr 8592 rarr 8594';

const words = NAMES.split(' ');
export const XML_ENTITIES: Readonly<Record<string, string>> = Object.fromEntries(
  words.flatMap((name, index) =>
    index % 2 === 0 ? [[name, String.fromCodePoint(Number(words[index + 1]))] as const] : [],
  ),
);
