import { expect, test } from '@jest/globals';
import { testEngines } from '../support/engines.js';
test('x', () => { expect(testEngines().qdrantUrl).toMatch(/http/); console.log(testEngines(), import.meta.url); });
