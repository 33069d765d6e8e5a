import type { LocalModelFiles } from '../../embeddings/providers/localModel.js';
import { testEngines } from '../support/engines.js';

export const modelFiles: LocalModelFiles = testEngines();
