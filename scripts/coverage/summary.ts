import type { FileCoverage } from './tally.js';

interface Count {
  readonly covered: number;
  readonly total: number;
}

export interface FolderCoverage {
  readonly folder: string;
  readonly lines: Count;
  readonly branches: Count;
}

/** Sums up the files of each top-level folder and of all folders; files in the root folder count as the folder `.`. */
export function summarize(files: readonly FileCoverage[]): readonly FolderCoverage[] {
  const folderOf = ({ path }: FileCoverage): string => (path.includes('/') ? (path.split('/')[0] ?? '.') : '.');
  const folders = [...new Set(files.map(folderOf))].toSorted();
  return [
    ...folders.map((folder) =>
      sum(
        folder,
        files.filter((file) => folderOf(file) === folder),
      ),
    ),
    sum('all', files),
  ];
}

function sum(folder: string, files: readonly FileCoverage[]): FolderCoverage {
  const count = (kind: 'lines' | 'branches'): Count => {
    const total = files.reduce((before, file) => before + file[kind].total, 0);
    return { covered: files.reduce((before, file) => before - file[kind].missed.length, total), total };
  };
  return { folder, lines: count('lines'), branches: count('branches') };
}

/** Formats the table that `npm run coverage` prints. */
export function coverageTable(folders: readonly FolderCoverage[]): string {
  const cell = ({ covered, total }: Count): string => {
    const share = total === 0 ? '-' : `${((covered / total) * 100).toFixed(1)} %`;
    return `${share.padStart(8)} ${`${covered}/${total}`.padStart(13)}`;
  };
  const head = `${'folder'.padEnd(16)}${'lines'.padStart(22)}  ${'branches'.padStart(22)}`;
  return [
    head,
    ...folders.map((folder) => `${folder.folder.padEnd(16)}${cell(folder.lines)}  ${cell(folder.branches)}`),
  ].join('\n');
}
