import { answersByTheDocument } from '../../support/clients/fuzz.js';

// test/long/clients/document.test.ts also sends wrong methods, wrong types and incomplete requests.
answersByTheDocument(3, ['fuzzing'], 2_026);
