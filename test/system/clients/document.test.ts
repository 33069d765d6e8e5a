import { answersByTheDocument } from '../../support/clients/fuzz.js';

// The long form, with wrong methods, types and missing parts too: test/long/clients/document.test.ts
answersByTheDocument(3, ['fuzzing'], 2_026);
