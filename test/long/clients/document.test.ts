import { answersByTheDocument } from '../../support/clients/fuzz.js';

answersByTheDocument(40, ['examples', 'coverage', 'fuzzing'], 2_026);
