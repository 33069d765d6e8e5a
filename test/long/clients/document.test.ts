import { answersByTheDocument } from '../../support/clients/fuzz.js';

answersByTheDocument(20, ['examples', 'coverage', 'fuzzing'], 2_026);
