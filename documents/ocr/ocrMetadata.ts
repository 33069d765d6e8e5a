import { LOW_OCR_CONFIDENCE, OCR_LANGUAGES } from '../../contract/files/ocrLanguages.js';
import type { FileWarning } from '../../contract/runs/ledger.js';
import type { PageText } from '../placedText.js';

/** Maximum number of pages that a warning names. */
const NAMED_PAGES = 5;

/** The facts about recognized pages in a file's record. */
interface OcrMetadata {
  /** For file_metadata: the pages and, in the same order, their languages and confidences. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly warnings?: readonly FileWarning[];
}

/** Returns the metadata of recognized pages, with a warning if the text of some is probably wrong. */
export function ocrMetadata(pages: readonly PageText[]): OcrMetadata {
  const metadata = {
    ocr_pages: pages.map(({ number }) => number),
    ocr_languages: pages.map(({ recognition }) => recognition?.language ?? null),
    ocr_confidence: pages.map(({ recognition }) => recognition?.confidence ?? null),
  };
  const low = pages.filter(({ recognition }) => (recognition?.confidence ?? 1) < LOW_OCR_CONFIDENCE);
  return low.length === 0
    ? { metadata }
    : { metadata, warnings: [{ cause: 'low_ocr_confidence', message: describeLowConfidence(low) }] };
}

function describeLowConfidence(low: readonly PageText[]): string {
  const listed = low.slice(0, NAMED_PAGES).map(({ number, recognition }) => {
    const { language = null, confidence = null } = recognition ?? {};
    return `${number} (${language === null ? '' : `${OCR_LANGUAGES[language].name}, `}${Math.round(100 * (confidence ?? 0))} %)`;
  });
  const more = low.length > listed.length ? ` and ${low.length - listed.length} more` : '';
  return `OCR is not sure of the text of page ${listed.join(', ')}${more}. Compare it with the original.`;
}
