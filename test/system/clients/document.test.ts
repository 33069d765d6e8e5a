import { testAnswersAgainstOpenApi } from '../../support/clients/fuzz.js';

// test/long/clients/document.test.ts also sends wrong methods, wrong types and incomplete requests.
testAnswersAgainstOpenApi(3, ['fuzzing'], 2_026);
