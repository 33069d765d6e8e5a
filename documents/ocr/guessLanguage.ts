import type { OcrLanguage } from '../../contract/files/ocrLanguages.js';

/**
 * Frequent short words of languages in Latin script, without accents: OCR with the data of another language reads most
 * letters correctly, but loses the accents.
 */
const WORDS: Readonly<Partial<Record<OcrLanguage, string>>> = {
  eng: 'the of and to in is that for it with was on are as be this by not or have from which all has at an they you we but one',
  deu: 'der die und das den von zu mit sich des auf ist im dem nicht ein eine einer als auch es an werden aus er hat dass sie nach wird bei oder noch nur wir durch ihr sind wie fur uber kann',
  fra: 'de la le et les des en un du une que est pour qui dans par au sur il ne pas ce se plus ou sont avec leur nous vous cette aux tous tout ses sans il elle mais comme',
  spa: 'de la que el en y a los se del las un por con no una su para es al lo como mas o pero sus todo toda esta son fue sin sobre este ya entre cuando muy sera todos',
  ita: 'di e il la che in a per un del non con le si da i della una sono dei al nel alla piu come gli delle ed anche ha dal lo questo suo se essere o ad nella loro ai',
  por: 'de a o que e do da em um para com uma os no se na por mais as dos como mas ao ele das seu sua ou quando nao sao ser foi tem pelo pela todo todos nos isso esta',
  nld: 'de van het een en in is dat op te zijn met voor niet aan er om ook als dan maar bij uit nog naar worden door heeft ze of wordt hij deze had over geen aan kan haar',
  pol: 'w i na z do nie jest to sie o ze za od po jak przez dla tym ale sa jego ktory oraz przy lub ma co tak bez jako czy byc tego ich bylo pod maja wszyscy',
  swe: 'och i att det som en pa ar av for med den till inte om ett han men var jag sig fran vi sa kan nar har de skulle kommer ut vid hade eller man detta dessa efter utan mycket aven ocksa mot under alla sin sitt finns blev blir mellan nu',
  ces: 'a se v na je ze o s z do i to k ve pro za by ale si po jako od nebo jsou byl jeho tak co podle jen az byla uz kdyz jak by ktery ktera ktere jsem jeste pri mezi byt pouze take bylo aby pred jejich vsak tento tato',
  tur: 've bir bu da de icin ile olarak daha gibi en kadar cok ne sonra olan var ise olan her o tarafindan degil ya ki gore iki ancak kendi veya diger yeni ilk olan oldugu bile cunku once buyuk hem mi',
  vie: 'va cua la co cho khong trong duoc cac mot nhung nguoi voi den nay khi da theo ve tu ra phai nhu nhieu cung con lam vao sau tai ong nam neu de thi ma se lai tren hay rang do chi',
};

/** Minimum sum of the weights of a text's frequent words, per word of the text; prose has more than twice as much. */
const MIN_SHARE = 0.08;
/** Minimum ratio of the best score to another one; languages that are closer to the best are returned too. */
const MIN_RATIO = 1.25;
const MIN_WORDS = 12;

/** Weight of each word by language: the fewer languages share it, the more it weighs. */
const WORD_WEIGHTS = new Map<string, Map<OcrLanguage, number>>();
for (const [language, words] of Object.entries(WORDS) as [OcrLanguage, string][])
  for (const word of new Set(words.split(' ')))
    WORD_WEIGHTS.set(word, (WORD_WEIGHTS.get(word) ?? new Map<OcrLanguage, number>()).set(language, 1));
for (const languages of WORD_WEIGHTS.values())
  for (const language of languages.keys()) languages.set(language, 1 / languages.size);

const WITHOUT_STROKE: Readonly<Record<string, string>> = { ł: 'l', đ: 'd', ı: 'i' };

const withoutAccents = (word: string): string =>
  word
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replace(/[łđı]/g, (letter) => WITHOUT_STROKE[letter] ?? letter);

/**
 * Guesses the language of a text in Latin script by its frequent words. The text may be read with the data of another
 * language.
 * @param languages the languages to choose from
 * @returns the language; several if none is clearly ahead; none if the text is short or has no frequent words
 */
export function guessLanguage(text: string, languages: readonly OcrLanguage[]): OcrLanguage[] {
  const words = (text.match(/[\p{L}\p{M}]+/gu) ?? []).map(withoutAccents);
  if (words.length < MIN_WORDS) return [];
  const scores = new Map<OcrLanguage, number>();
  for (const word of words)
    for (const [language, weight] of WORD_WEIGHTS.get(word) ?? [])
      scores.set(language, (scores.get(language) ?? 0) + weight / words.length);
  const ranked = [...scores].filter(([language]) => languages.includes(language)).toSorted(([, a], [, b]) => b - a);
  const highest = ranked[0]?.[1] ?? 0;
  if (highest < MIN_SHARE) return [];
  return ranked.filter(([, score]) => MIN_RATIO * score > highest).map(([language]) => language);
}
