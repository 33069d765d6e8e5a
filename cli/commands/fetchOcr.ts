import { ocrSettings } from '../../config/config.js';
import { Fault } from '../../contract/failures.js';
import { OCR_LANGUAGE_CODES } from '../../contract/files/ocrLanguages.js';
import { createLanguageData } from '../../documents/ocr/data/languageData.js';
import type { DataCode } from '../../documents/ocr/data/packages.js';
import { type Command, CommandError, UsageError } from '../command.js';

const DATA_CODES: readonly string[] = ['osd', ...OCR_LANGUAGE_CODES];

export const fetchOcr: Command = {
  usage: '[CODES]',
  about:
    'Downloads the data of OCR languages by npm into DATA_DIR/ocr-languages. Workers do this automatically when a page first needs a language. For workers without network access, run the command on another machine and copy the folder to them.\nCODES are separated by commas, such as deu,fra. Default: OCR_LANGUAGES, and osd, which detects the script of a page.',
  options: {},
  async run({ args, terminal }) {
    const { languages, folder } = ocrSettings(terminal.env);
    const codes = args[0]?.split(',').map((code) => code.trim()) ?? ['osd', ...languages];
    const unknown = codes.find((code) => !DATA_CODES.includes(code));
    if (unknown !== undefined)
      throw new UsageError(`unknown language ${unknown}. Give some of ${DATA_CODES.join(', ')}`);
    const data = createLanguageData({
      folder,
      onProgress: (line) => terminal.err(`${line}\n`),
      // Otherwise a failed download is replaced by a link to the data that is installed on this system. The link would
      // not work in a copy of the folder on another machine.
      mustDownload: true,
    });
    const failed: string[] = [];
    for (const code of codes as DataCode[]) {
      await data.ensure(code, terminal.stopped).catch((error: unknown) => {
        if (!(error instanceof Fault)) throw error;
        failed.push(error.message);
      });
    }
    if (failed.length > 0) throw new CommandError(failed.join('\n'));
    terminal.out(`${folder} contains the data of ${codes.join(', ')}`);
  },
};
