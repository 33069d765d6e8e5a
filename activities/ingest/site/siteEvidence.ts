import type { SiteEvidence } from '../../../documents/types.js';
import type { LearnedBlocks } from '../../../store/siteBlocks/siteBlocks.js';
import type { FileDoc } from '../../../store/models/files.js';
import type { ActivityDeps } from '../../deps.js';
import { siteOfPage } from './siteOf.js';

/** Returns the evidence about a page's site for the reader of the page; null if there is none. */
export type EvidenceOf = (file: FileDoc) => Promise<SiteEvidence | null>;

/** Creates the lookup of evidence for the files of one batch. It reads the blocks of each site once. */
export function createSiteEvidence({ store, settings }: Pick<ActivityDeps, 'store' | 'settings'>): EvidenceOf {
  const blocksBySite = new Map<number, Promise<LearnedBlocks | null>>();
  return async (file) => {
    const site = siteOfPage(file, settings);
    if (site === null) return null;
    const finding = blocksBySite.get(site.fileId) ?? store.siteBlocks.find(site);
    blocksBySite.set(site.fileId, finding);
    const blocks = (await finding)?.blocks ?? [];
    const repeated = blocks.filter(({ keptBy }) => keptBy !== file._id).map(({ id }) => id);
    return repeated.length === 0 ? null : { host: hostOf(file), repeated, listBlocks: false };
  };
}

/** Returns the host of a page, with port. */
export const hostOf = ({ externalFileId }: Pick<FileDoc, 'externalFileId'>): string => new URL(externalFileId).host;
