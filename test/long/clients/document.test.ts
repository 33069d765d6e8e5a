import { testAnswersAgainstOpenApi } from '../../support/clients/fuzz.js';

/**
 * Schemathesis's phase `coverage` is disabled: it has no limit, and sends thousands of requests for the larger schemas.
 */
const EXAMPLES_PER_OPERATION = 40;

testAnswersAgainstOpenApi(EXAMPLES_PER_OPERATION, ['examples', 'fuzzing'], 2_026);
