import type { LocalModelFiles } from '../../../providers/embeddings/providers/localModel.js';
import { testEngines } from '../../support/engines.js';

export const modelFiles: LocalModelFiles = testEngines();
