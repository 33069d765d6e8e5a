/** Pages of known text in several languages. */
import { existsSync } from 'node:fs';
import { GlobalFonts } from '@napi-rs/canvas';

import type { OcrLanguage } from '../../contract/files/ocrLanguages.js';
import type { PageText } from '../../documents/placedText.js';
import { drawPicture } from './pictures.js';

const CHINESE_FONT = '/usr/share/fonts/truetype/wqy/wqy-microhei.ttc';

/** Lines of text by language: about forty words each in total. */
export const OCR_TEXTS: Readonly<Partial<Record<OcrLanguage, readonly string[]>>> = {
  eng: [
    'The harbour office was opened in 1901 and has been rebuilt twice since then.',
    'Ships of more than 3,400 tons may enter only with a pilot on board.',
    'The master of each vessel reports its cargo before noon of the day of arrival.',
    'Berths are given out by the harbour master, who also collects the dues.',
  ],
  deu: [
    'Das Hafenbüro wurde im Jahr 1901 eröffnet und seither zweimal umgebaut.',
    'Größere Schiffe dürfen nur mit einem Lotsen an Bord in den Hafen einlaufen.',
    'Jeder Schiffsführer muss seine Ladung bis zum Mittag des Ankunftstages melden.',
    'Über die Liegeplätze entscheidet der Hafenmeister, der auch die Gebühren erhebt.',
  ],
  fra: [
    'Le bureau du port a été ouvert en 1901 et rénové deux fois depuis cette année.',
    'Les navires de plus de trois mille tonnes ne peuvent entrer sans un pilote à bord.',
    'Le capitaine déclare sa cargaison avant midi, le jour même de son arrivée.',
    'Les places à quai sont attribuées par le maître du port, qui perçoit les droits.',
  ],
  rus: [
    'Портовая контора была открыта в 1901 году и с тех пор дважды перестроена.',
    'Суда большого тоннажа могут входить в гавань только с лоцманом на борту.',
    'Каждый капитан обязан сообщить о своём грузе до полудня в день прибытия.',
    'Места у причала распределяет начальник порта, который также взимает сборы.',
  ],
  ukr: [
    'Портову контору було відкрито в 1901 році, і відтоді її двічі перебудували.',
    'Великі судна можуть заходити до гавані лише з лоцманом на борту.',
    'Кожен капітан має повідомити про свій вантаж до полудня в день прибуття.',
    'Місця біля причалу розподіляє начальник порту, який також стягує збори.',
  ],
  chi_sim: [
    '港务局于一九零一年开放，此后经过两次重建。',
    '大型船舶只有在引航员登船之后才能进入港口。',
    '每位船长必须在到达当天中午之前报告所载货物。',
    '泊位由港务长分配，他同时负责收取各种费用。',
  ],
  jpn: [
    '港の事務所は千九百一年に開かれ、その後二回建て直された。',
    '大きな船は水先案内人が乗っている場合にだけ入港できる。',
    '船長は到着した日の正午までに積み荷を報告しなければならない。',
    '停泊する場所は港長が決め、料金もあわせて受け取る。',
  ],
  kor: [
    '항만 사무소는 1901년에 문을 열었고 그 뒤로 두 번 다시 지어졌다.',
    '큰 배는 도선사가 타고 있을 때에만 항구에 들어올 수 있다.',
    '선장은 도착한 날 정오까지 실은 화물을 모두 신고해야 한다.',
    '배를 대는 자리는 항만의 책임자가 정하고 요금도 함께 받는다.',
  ],
};

/** Registers the font of Chinese, Japanese and Korean pages. @throws Error that names the package to install */
export function registerFonts(): void {
  if (!existsSync(CHINESE_FONT)) throw new Error('These tests need a font: apt-get install -y fonts-wqy-microhei');
  GlobalFonts.registerFromPath(CHINESE_FONT, 'WenQuanYi Micro Hei');
}

const drawText = (language: OcrLanguage, lines: readonly string[], height: number): Uint8Array => {
  const font = ['chi_sim', 'jpn', 'kor'].includes(language) ? 'WenQuanYi Micro Hei' : 'DejaVu Serif';
  return drawPicture(lines, { width: 1650, height, size: 30, font });
};

/** Draws a scan of an A5 page with the text of a language. @returns PNG */
export const scan = (language: OcrLanguage): Uint8Array => drawText(language, OCR_TEXTS[language] ?? [], 1100);

/** Draws a scan of the first two lines of the text of a language, which OCR reads faster. @returns PNG */
export const shortScan = (language: OcrLanguage): Uint8Array =>
  drawText(language, OCR_TEXTS[language]?.slice(0, 2) ?? [], 200);

/** Returns the words of a text; for scripts without spaces, its characters. */
const unitsOf = (text: string): string[] =>
  text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+/gu) ?? [];

/** Returns the recall of a recognized text: the share of the expected words that it contains, from 0 to 1. */
export function recall(expected: string, read: string): number {
  const unmatched = unitsOf(read);
  const expectedUnits = unitsOf(expected);
  const matched = expectedUnits.filter((unit) => {
    const at = unmatched.indexOf(unit);
    if (at !== -1) unmatched.splice(at, 1);
    return at !== -1;
  });
  return matched.length / expectedUnits.length;
}

export const textOf = ({ paragraphs }: PageText): string =>
  paragraphs.flatMap(({ lines }) => lines.map(({ text }) => text)).join('\n');
