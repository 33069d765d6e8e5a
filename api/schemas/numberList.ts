import Joi from 'joi';

const NUMBER = Joi.number();

/** Result of Joi's internal validation, which its types omit. */
interface JoiResult {
  readonly errors?: readonly Joi.ErrorReport[];
}

/** Returns whether Joi accepts a value as a number without conversion; Joi validates all others. */
const isPlain = (value: unknown): boolean =>
  typeof value === 'number' && value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER;

/** Joi extension for lists of numbers. Joi's types omit `jsonSchema`. */
const type: Joi.Extension & { jsonSchema: (schema: Joi.Schema, about: object) => object } = {
  type: 'numbers',
  base: Joi.array(),
  jsonSchema: (_schema, about) => ({ ...about, type: 'array', items: { type: 'number' } }),
  rules: {
    all: {
      validate(values: readonly unknown[], { state, prefs, errorsArray }) {
        if (values.every(isPlain)) return values;
        const errors = errorsArray();
        for (const [index, value] of values.entries()) {
          const place = state.localize?.([...(state.path ?? []), index], [values, ...(state.ancestors as unknown[])]);
          const { errors: numberErrors } = NUMBER.$_validate(value, place as Joi.State, prefs) as JoiResult;
          errors.push(...(numberErrors ?? []));
          if (errors.length > 0 && prefs.abortEarly) break;
        }
        return errors.length > 0 ? errors : values;
      },
    },
  },
};
const extended = Joi.extend(type) as { numbers(): Joi.ArraySchema };

/**
 * Returns the equivalent of Joi.array().items(Joi.number()), for vectors in bodies: Joi's validation of each number
 * takes longer than the rest of a search's validation. The errors are the same.
 */
export const numberList = (): Joi.ArraySchema<number[]> =>
  extended.numbers().$_addRule('all') as Joi.ArraySchema<number[]>;
