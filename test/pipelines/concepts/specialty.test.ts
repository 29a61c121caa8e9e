import { expect, it } from 'vitest';
import { specialtyOf } from '../../../pipelines/concepts/specialty.ts';
import { CONTENT_ENDPOINT } from '../../../pipelines/contract/content.ts';
import { TRANSLATE_ENDPOINT } from '../../../pipelines/contract/translate.ts';
import { ECHO } from '../../../pipelines/echo/interpret-study.ts';
import { OBSTETRIC } from '../../../pipelines/obstetric/interpret-study.ts';

it.each([
  [OBSTETRIC, 'obstetric'],
  [ECHO, 'echo'],
])('the endpoint $id has its specialty, by its id and by its model', ({ id, model }, specialty) => {
  expect([id, model].map(specialtyOf)).toEqual([specialty, specialty]);
});

it.each([CONTENT_ENDPOINT, TRANSLATE_ENDPOINT])('%s has no specialty', (id) => {
  expect(specialtyOf(id)).toBeNull();
});
