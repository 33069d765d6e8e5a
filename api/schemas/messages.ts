import type Joi from 'joi';

/** First character of a message that a schema defines for one of its fields, to distinguish it from Joi's messages. */
export const OWN_MESSAGE = '@';

/** Replaces the sentences for some errors of a field. @param sentences by Joi's code, such as `string.max` */
export const withMessages = <S extends Joi.Schema>(schema: S, sentences: Readonly<Record<string, string>>): S =>
  schema.messages(
    Object.fromEntries(Object.entries(sentences).map(([code, sentence]) => [code, `${OWN_MESSAGE}${sentence}`])),
  ) as S;
