import { foldText } from './foldText.js';

/** Languages that are recognized by their function words. All are written in Latin letters. */
export type Language = keyof typeof WORDS;

/**
 * The most frequent function words, question words included. They show the language of a text. Queries are searched
 * without those of their language. Words that are also common nouns or verbs are omitted on purpose.
 */
const WORDS = {
  en: `a an and are as at be but by for if in into is it no not of on or such that the their then there these they this
    to was will with what which who whom whose how why when where do does did can could should would i me my we our you
    your has have had from about its any some than so were been am`,
  de: `der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ist sind war waren wird
    werden wurde wurden worden hat haben hatte hatten sein seine seiner ihre ihrer ihr er sie es wir ich man sich auf aus
    bei bis durch für gegen im in mit nach ohne über um unter von vom vor während wegen zu zum zur zwischen als auch an am
    dass wenn weil wie was wer wen wem wo wann warum wieso welche welcher welches welchen welchem wieviel viele nur noch
    schon kann können konnte dieser diese dieses diesen diesem`,
  nl: `de het een en of maar niet geen is zijn was waren wordt worden werd werden heeft hebben had hadden hij zij ze wij
    we je jij ik u men zich hun haar op uit bij tot door voor tegen in met naar zonder over om onder van tussen als ook
    aan dat die deze dit er wat wie waar wanneer waarom hoe welke welk hoeveel nog wel kan kunnen kon zou zouden te ten`,
  fr: `le la les l un une des du de d et ou mais ne pas est sont était étaient être été a ont avait avaient avoir il elle
    ils elles on nous vous je tu se s ce cet cette ces son sa ses leur leurs au aux à en dans par pour sur sous avec sans
    entre vers chez comme que qu qui quoi quel quelle quels quelles quand où comment pourquoi combien dont lequel laquelle
    plus aussi peut peuvent qui lui y fut`,
  es: `el la los las lo un una unos unas y e o u pero no ni es son era eran fue fueron ser sido ha han había habían haber
    él ella ellos ellas nosotros usted yo tú se su sus mi le les este esta estos estas ese esa del al de a en por para con
    sin sobre entre hasta desde como que qué quién quiénes cuál cuáles cuándo cuánto cuántos cuánta cuántas dónde cómo
    porque más también muy ya puede pueden está están`,
  pt: `o a os as um uma uns umas e ou mas não nem é são era eram foi foram ser sido há tem têm tinha ele ela eles elas
    nós você eu se seu sua seus suas este esta estes esse essa isso do da dos das no na nos nas ao aos à às de em por
    pelo pela pelos pelas para com sem sobre entre até como que quem qual quais quando quanto quantos quantas onde porque
    mais também muito já pode podem está estão`,
  it: `il lo la i gli le un uno una e ed o ma non né è sono era erano fu furono essere stato stata ha hanno aveva avevano
    avere lui lei loro noi voi io si suo sua suoi sue questo questa questi queste del dello della dei degli delle al allo
    alla ai agli alle dal dalla dai nel nello nella nei nelle sul sulla di a da in con su per tra fra come che chi cosa
    quale quali quando quanto quanti quante dove perché più anche molto già può possono dell all nell dall sull cui`,
  ro: `un o unei unui și si sau dar nu este e sunt era erau fost fi a au avea are el ea ei ele noi voi eu se își său sa
    săi sale acest această aceste acestea acel acea al ai ale la în din de pe pentru cu fără prin între până după despre
    ca că care ce cine cât câte câți câtă când unde cum ori mai foarte tot poate pot lui lor fie cel cea cei cele într
    dintre către cărei cărui`,
  da: `den det de en et og eller men ikke er var bliver blev blevet har havde have han hun de vi jeg man sig sin sit sine
    deres hans hendes på ud af ved til gennem for mod i med efter uden over om under fra mellem som også at der da når
    hvad hvem hvor hvornår hvorfor hvordan hvilken hvilket hvilke mange kun kan kunne skal skulle denne dette disse`,
  no: `den det de en et ei og eller men ikke er var blir ble blitt har hadde ha han hun vi jeg man seg sin sitt sine deres
    hans hennes på ut av ved til gjennom for mot i med etter uten over om under fra mellom som også at der da når hva
    hvem hvor hvorfor hvordan hvilken hvilket hvilke mange kan kunne skal skulle denne dette disse`,
  sv: `den det de en ett och eller men inte är var blir blev blivit har hade ha han hon vi jag man sig sin sitt sina deras
    hans hennes på ut av vid till genom för mot i med efter utan över om under från mellan som också att där då när vad
    vem var varför hur vilken vilket vilka många kan kunde ska skulle denna detta dessa`,
  fi: `ja tai mutta ei eivät ole on ovat oli olivat olla ollut hän he se ne me minä te joka jotka jonka joita jossa mikä
    mitkä mitä minkä mihin missä mistä milloin miksi miten kuka ketkä kuinka moni montako kun jos että sekä myös kuin
    tämä tämän nämä niiden sen hänen heidän sitä siitä siinä vain voi voivat jo vielä kanssa ennen jälkeen`,
  hu: `a az egy és vagy de nem ne is van vannak volt voltak lesz lett ő ők mi én te ez azt ezt ezek azok aki amely amelyek
    ami ahol hogy ha mert mint csak már még meg el ki be fel le között után előtt alatt szerint által mit mik ki kik
    melyik melyek mikor hol honnan hová miért hogyan mennyi hány milyen`,
  tr: `ve veya ya ama fakat değil bir bu şu o bunlar onlar ben biz siz onun onların ile için gibi kadar göre sonra önce
    daha en çok da de ki mi mı mu mü ise olan olarak oldu olduğu olduğunu idi ne nedir neydi neden nasıl nerede nereye kim
    kimdir kimin hangi hangisi kaç ne zaman her hem tarafından vardı var yok`,
  id: `yang dan atau tetapi tidak bukan adalah ialah ini itu di ke dari pada untuk dengan tanpa dalam oleh sebagai akan
    telah sudah sedang bisa dapat ia dia mereka kami kita saya anda nya para juga karena jika ketika bahwa seperti apa
    apakah siapa kapan mana dimana mengapa bagaimana berapa`,
  vi: `và hoặc nhưng không là của các những một cho với trong trên dưới từ đến được bị có đã đang sẽ này đó khi nếu vì
    như cũng ra vào bởi tại về theo ai gì nào đâu sao bao nhiêu thế mấy`,
  pl: `i oraz lub ale nie jest są był była było były być został została się on ona ono oni my ja to ten ta te tego tej tym
    tych w we z ze na do od o po za przez dla przy pod nad między jak że który która które których co kto kiedy gdzie
    dlaczego ile czy jaki jaka jakie już tylko także może jego jej ich`,
  cs: `a i nebo ale ne je jsou byl byla bylo byli být se si on ona ono oni my já to ten ta ty toho té tím těch v ve z ze
    na do od o po za pro při pod nad mezi jak že který která které kteří co kdo kdy kde proč kolik zda jaký jaká jaké již
    jen také může jeho její jejich`,
} as const;

const TABLE = new Map(
  Object.entries(WORDS).map(([language, words]) => [
    language as Language,
    new Set(words.split(/\s+/).map((word) => foldText(word))),
  ]),
);

/**
 * The languages of a function word. A word of several languages is weak evidence for each of them.
 */
const BY_WORD = new Map<string, readonly Language[]>();
for (const [language, words] of TABLE)
  for (const word of words) BY_WORD.set(word, [...(BY_WORD.get(word) ?? []), language]);

const NONE: readonly Language[] = [];

/** Returns the languages that a folded word is a function word of. */
export const languagesOfWord = (word: string): readonly Language[] => BY_WORD.get(word) ?? NONE;

/** Whether a word of a query is dropped. Words in capitals (IT, WHO) are kept. */
export const isFunctionWord = (word: string, language: Language): boolean =>
  (TABLE.get(language)?.has(foldText(word)) ?? false) && !(word.length > 1 && word === word.toUpperCase());
