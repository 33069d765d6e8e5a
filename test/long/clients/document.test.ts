import { testAnswersAgainstOpenApi } from '../../support/clients/fuzz.js';

/**
 * Number of generated requests per operation. The phase `coverage` of Schemathesis is disabled: it has no limit, and
 * sends thousands of requests for the larger schemas.
 */
const EXAMPLES_PER_OPERATION = 40;

testAnswersAgainstOpenApi(EXAMPLES_PER_OPERATION, ['examples', 'fuzzing'], 2_026);
