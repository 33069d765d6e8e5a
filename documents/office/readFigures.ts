import { markdownTable, oneLine } from '../textBuilder.js';
import type { DocumentLimits } from '../types.js';
import { formatNumber, GENERAL, numberFormat } from './numberFormats.js';
import type { Package } from './openPackage.js';
import { readXml } from './readXml.js';

/** The readers of figures, by the type of the relation to the figure's part. */
const FIGURE_READERS: ReadonlyMap<string, typeof readChart> = new Map([
  ['chart', readChart],
  ['diagramData', readDiagram],
]);

/** Returns the charts and diagrams of a member as blocks, by relation id. */
export async function readFigures(
  { archive, relationsOf }: Package,
  member: string,
  limits: DocumentLimits,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const figures = new Map<string, readonly string[]>();
  for (const [id, { type, target }] of await relationsOf(member)) {
    const read = FIGURE_READERS.get(type);
    if (read && archive.has(target)) figures.set(id, read(await archive.read(target), limits));
  }
  return figures;
}

/** Maximum number of levels of labels, and length of a group's label, which is repeated at each of its points. */
const MAX_LEVELS = 8;
const MAX_GROUP_CHARACTERS = 100;

interface Series {
  name: string;
  /** Labels of the points, by their number. */
  readonly labels: Map<number, string>;
  /** Labels of groups of points, by the number of the first point; the outermost groups first. */
  readonly groups: Map<number, string>[];
  readonly values: Map<number, string>;
}

/** Id of a number format that a file defines: charts store its code, but no id. */
const CUSTOM_FORMAT = 164;

/** Elements of a series, and the meaning of their values. */
const SERIES_PARTS: ReadonlyMap<string, 'name' | 'labels' | 'values'> = new Map([
  ['tx', 'name'],
  ['cat', 'labels'],
  ['xVal', 'labels'],
  ['val', 'values'],
  ['yVal', 'values'],
]);

/** Rounds a number to the fifteen digits of Excel: charts store rounding errors of binary fractions. */
const roundAsExcel = (text: string): string =>
  /^-?\d+\.\d{12,}(?:E[+-]?\d+)?$/i.test(text) ? String(Number(Number(text).toPrecision(15))) : text;

/** Reads a chart as blocks: its title, and a table with one column per series. */
function readChart(part: Uint8Array, limits: DocumentLimits): string[] {
  const all: Series[] = [];
  let series: Series | null = null;
  let target: 'name' | 'labels' | 'values' | null = null;
  let [title, text, point, levels] = ['', '', 0, 0];
  let [inTitle, inPlot, isReading] = [false, false, false];
  let [labelFormat, date1904] = [GENERAL, false];
  readXml(part, limits, {
    open(name, { idx, val }) {
      if (name === 'date1904') date1904 = val !== '0' && val !== 'false';
      if (inTitle && (name === 'p' || name === 'br' || name === 'pt')) title += ' ';
      if (name === 'ser') [series, levels] = [{ name: '', labels: new Map(), groups: [], values: new Map() }, 0];
      else if (name === 'plotArea') inPlot = true;
      else if (name === 'numCache' || name === 'strCache') labelFormat = GENERAL;
      else if (name === 'title') inTitle = !inPlot;
      else if (series && target === null) target = SERIES_PARTS.get(name) ?? null;
      else if (name === 'lvl' && series && target === 'labels') {
        levels += 1;
        if (levels > 1 && levels <= MAX_LEVELS) series.groups.unshift(new Map());
      } else if (name === 'pt') point = Number(idx ?? 0);
      isReading = name === 'v' || (name === 't' && inTitle) || name === 'formatCode';
      text = '';
    },
    text(more) {
      if (isReading) text += more;
    },
    close(name) {
      // A title that refers to a cell is stored as a value (v).
      if ((name === 't' || name === 'v') && inTitle) title += text;
      else if (name === 'v' && series && target === 'name') series.name ||= oneLine(text);
      else if (name === 'formatCode' && target === 'labels') labelFormat = numberFormat(CUSTOM_FORMAT, text);
      else if (name === 'v' && series && target === 'labels') {
        const isTime = labelFormat.kind === 'date' || labelFormat.kind === 'duration';
        const label = isTime ? formatNumber(text, labelFormat, date1904) : roundAsExcel(text);
        (series.groups[0] ?? series.labels).set(point, label);
      } else if (name === 'v' && series && target === 'values') series.values.set(point, roundAsExcel(text));
      else if (name === 'title') inTitle = false;
      else if (SERIES_PARTS.has(name) && SERIES_PARTS.get(name) === target) target = null;
      else if (name === 'ser' && series) {
        addGroups(series);
        all.push(series);
        series = null;
      }
      isReading = false;
    },
  });
  return [oneLine(title), tableOf(all)].filter((block) => block !== '');
}

/** Prefixes the labels of points with those of their groups: `2023 Q1`. */
function addGroups({ labels, groups }: Series): void {
  if (groups.length === 0) return;
  const open = groups.map(() => '');
  for (const [point, label] of labels) {
    groups.forEach(
      (group, level) => (open[level] = group.get(point)?.slice(0, MAX_GROUP_CHARACTERS) ?? open[level] ?? ''),
    );
    labels.set(point, oneLine([...open, label].join(' ')));
  }
}

function tableOf(all: readonly Series[]): string {
  const points = [...new Set(all.flatMap(({ labels, values }) => [...labels.keys(), ...values.keys()]))];
  if (points.length === 0) return '';
  const labelsOf = (point: number, some: readonly Series[]): string[] =>
    some.flatMap(({ labels }) => labels.get(point) ?? []);
  // The series of a scatter chart may have different places on the x-axis: then each has a column for them.
  const differ = points.some((point) => new Set(labelsOf(point, all)).size > 1);
  const columns = differ ? all.map((one) => [one]) : [all];
  const rows = points
    .toSorted((a, b) => a - b)
    .map((point) =>
      columns.flatMap((some) => [labelsOf(point, some)[0] ?? '', ...some.map(({ values }) => values.get(point) ?? '')]),
    );
  return markdownTable([columns.flatMap((some) => ['', ...some.map(({ name }) => name)]), ...rows]);
}

/** Reads the text of a diagram (SmartArt), one list item per shape. */
function readDiagram(part: Uint8Array, limits: DocumentLimits): string[] {
  const points: string[] = [];
  let words = '';
  let isReading = false;
  readXml(part, limits, {
    open(name) {
      if (name === 'pt') words = '';
      else if (name === 'p') words += ' ';
      isReading = name === 't';
    },
    text(text) {
      if (isReading) words += text;
    },
    close(name) {
      isReading = false;
      if (name === 'pt' && oneLine(words) !== '') points.push(`- ${oneLine(words)}`);
    },
  });
  return points.length > 0 ? [points.join('\n')] : [];
}
