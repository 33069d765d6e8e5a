/**
 * Letter statistics of languages, for the detection of encodings. Letters are ordered from frequent to rare, by general
 * knowledge of each language; a rank is sufficient to distinguish encodings.
 */

/** An alphabet beyond ASCII: Latin ones list only their letters beyond ASCII. */
export interface Alphabet {
  /** Language subtag. */
  readonly language: string;
  /** Lower-case letters, from frequent to rare. */
  readonly letters: string;
}

const alphabet = (language: string, letters: string): Alphabet => ({ language, letters });

export const WESTERN: readonly Alphabet[] = [
  alphabet('de', 'üäößé'),
  alphabet('fr', 'éèàêçôîûùâœëïöü'),
  alphabet('es', 'óíáñéúü¡¿ª'),
  alphabet('pt', 'ãáçéóêíõâúôàüº'),
  alphabet('it', 'èàùòéì'),
  alphabet('da', 'åøæé'),
  alphabet('sv', 'äöåé'),
  alphabet('is', 'áðíéóþöúæý'),
  alphabet('nl', 'ëéïöüè'),
  alphabet('ca', 'éàèóíïçúòü·'),
];

export const CENTRAL_EUROPEAN: readonly Alphabet[] = [
  alphabet('pl', 'łóżęąśćńź'),
  alphabet('cs', 'íáéěřšýžčůúňťďó'),
  alphabet('sk', 'áíéžýčšťľúňôäóďĺŕ'),
  alphabet('hu', 'éáöóőüíúű'),
  alphabet('ro', 'ăîşţâ'),
  alphabet('hr', 'čšžćđ'),
];

export const TURKISH: readonly Alphabet[] = [alphabet('tr', 'ıüşçöğâîû')];

export const BALTIC: readonly Alphabet[] = [
  alphabet('lt', 'ėšųžįūąčę'),
  alphabet('lv', 'āīēšūņļžģķč'),
  alphabet('et', 'äõüöšž'),
];

export const CYRILLIC: readonly Alphabet[] = [
  alphabet('ru', 'оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё'),
  alphabet('uk', 'оанивтіеркслудмпзяьбгйчхїжшцющєфґ'),
  alphabet('bg', 'аиоетнрсвлкдпмзъугбчцйщхжяшюьф'),
  alphabet('sr', 'аоиенртсјкувдмплзгбшчцћжњљхђџф'),
  alphabet('be', 'анеіоркстялвдумпзыцьйгбўчшхжюфэё'),
];

export const GREEK: readonly Alphabet[] = [alphabet('el', 'αοιετσνηυρπκμλίςόγωάέήδθχύφώβξζψϊϋΐΰ')];
export const HEBREW: readonly Alphabet[] = [alphabet('he', 'יוהלארתבשמנדקחעכפםטצגזסןץךף')];
export const ARABIC: readonly Alphabet[] = [
  alphabet('ar', 'انليمتروبهعدسفةكحقجىأشصضطخزذثغءئإظؤآًَُِّْـ'),
  alphabet('fa', 'انيردهوتمسبشلكخزقفعگجآپحطصچغذضثظئژ'),
];
export const THAI: readonly Alphabet[] = [alphabet('th', 'านรอกเง่มยลวด้ทสตะปบคัหี็แจพิชขใไุโผืูึ์ศธษณซำญภถฟฝฉฐฎฏฆฬฯฤ๊๋ๆ')];

/** A script of thousands of characters. */
export interface Ideographs {
  readonly language: string;
  /** Its most frequent characters. */
  readonly frequent: ReadonlySet<string>;
  /** Approximate share of a text that the frequent characters make up. */
  readonly share: number;
  /** First and last code point of its other characters, and their approximate number in use. */
  readonly otherLetters: readonly [first: number, last: number, used: number];
}

const HIRAGANA =
  'あいうえおかがきぎくぐけげこごさざしじすずせぜそぞただちっつづてでとどなにぬねのはばぱひびふぶへべほぼまみむめもゃやゅゆょよらりるれろわをん';
const KATAKANA =
  'アイウエオカガキギクグケコゴサザシジスズセソタダチッツテデトドナニネノハバパヒビピフブプヘベペホボポマミムメモャヤュユョラリルレロワンー';
const KANJI =
  '日一国人年大十二本中長出三時行見月分後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西校語木食車何南万毎白天母火右友左休父雨';
const SIMPLIFIED =
  '的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教原东声提立及比员解水名真论处走义各入几口认条平系气题活更别打女变';
const TRADITIONAL =
  '的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活更別打女變';
const HANGUL =
  '이다는을의에가고하지로한를은기도어서나사리그있아니인시대수들자만정부으라과해여것일장게보전주원었면제조구상선공스안오성미동요소때문되와습우저더않없할관위했';

const CJK_UNIFIED_IDEOGRAPHS = [0x4e00, 0x9fff] as const;

export const JAPANESE: Ideographs = {
  language: 'ja',
  frequent: new Set(HIRAGANA + KATAKANA + KANJI),
  share: 0.75,
  otherLetters: [...CJK_UNIFIED_IDEOGRAPHS, 3000],
};
export const CHINESE_SIMPLIFIED: Ideographs = {
  language: 'zh',
  frequent: new Set(SIMPLIFIED),
  share: 0.55,
  otherLetters: [...CJK_UNIFIED_IDEOGRAPHS, 4000],
};
export const CHINESE_TRADITIONAL: Ideographs = {
  language: 'zh',
  frequent: new Set(TRADITIONAL),
  share: 0.55,
  otherLetters: [...CJK_UNIFIED_IDEOGRAPHS, 5000],
};
export const KOREAN: Ideographs = {
  language: 'ko',
  frequent: new Set(HANGUL),
  share: 0.6,
  otherLetters: [0xac00, 0xd7a3, 2300],
};
