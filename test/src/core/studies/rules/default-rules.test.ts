import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../../../config/load.ts';
import { echoEndpoint } from '../../../../../pipelines/echo/endpoint.ts';
import { obstetricEndpoint } from '../../../../../pipelines/obstetric/endpoint.ts';
import { type ContentFacts, route } from '../../../../../src/core/studies/rules/route.ts';

const { routing } = loadConfig({}, {});
const NOT_LOOKED: ContentFacts = { unknown: 'the images were not classified' };

interface Given {
  description?: string;
  modality?: string;
  attributes?: Record<string, string>;
  content?: ContentFacts;
}

/**
 * Returns the rule in `config/default.yaml` that applies to a study, and whether its images must be
 * classified first.
 */
function ruled({ description, modality = 'US', attributes = {}, content = NOT_LOOKED }: Given) {
  const { acting, open } = route(routing, {
    known: {
      source: ['this-machine'],
      callingAeTitle: ['CART'],
      calledAeTitle: ['SONOGATE'],
      modality: [modality],
      studyDescription: description === undefined ? [] : [description],
      procedureCode: [],
      sopClass: [],
    },
    attributes: new Map(Object.entries(attributes).map(([path, value]) => [path, [value]])),
    content,
    at: new Date(2026, 0, 1, 12),
  });
  return open ? 'classify the images' : acting.map(({ name }) => name).join();
}

const shows = (anatomy: string, ...view: string[]): ContentFacts => ({
  known: { anatomy: [anatomy], plane: [], view },
});

describe('the default rules', () => {
  it.each(routing.rules.flatMap(({ run }) => run ?? []))(
    'have options that $endpoint accepts',
    (run) => {
      const endpoint = [obstetricEndpoint, echoEndpoint].find(({ id }) => id === run.endpoint);
      const input = { files: ['scan.dcm'], options: run.options };
      expect(endpoint?.input.safeParse(input).error?.issues).toBeUndefined();
      expect(endpoint).toBeDefined();
    },
  );

  it.each([
    ['Obstetric ultrasound (phantom)', 'obstetric'],
    ['US OB > 14 WEEKS', 'obstetric'],
    ['US OB/GYN 2nd trimester', 'obstetric'],
    ['Fetal echo', 'obstetric'],
    ['Foetal echocardiography', 'obstetric'],
    ['Sono Schwangerschaft', 'obstetric'],
    ['Échographie de grossesse', 'obstetric'],
    ['Nuchal translucency', 'obstetric'],
    ['Transthoracic echocardiogram (phantom)', 'echo'],
    ['ECHO 2D + Doppler', 'echo'],
    ['TTE limited', 'echo'],
    ['Echokardiographie', 'echo'],
    ['Échocardiographie', 'echo'],
    ['Ecocardiograma', 'echo'],
    ['US PELVIS NON-OB COMPLETE', 'unrecognised'],
    ['Non-obstetric pelvic ultrasound', 'unrecognised'],
    ['Bowel obstruction', 'unrecognised'],
    ['Échographie abdominale', 'unrecognised'],
    ['US ABDOMEN', 'unrecognised'],
    ['Transesophageal echocardiogram', 'unrecognised'],
    ['TEE', 'unrecognised'],
  ])('send a study called "%s" to the rule %s', (description, rule) => {
    expect(ruled({ description })).toBe(rule);
  });

  it.each(['ProcedureCodeSequence.CodeMeaning', 'PerformedProcedureStepDescription'])(
    'apply to %s as well',
    (path) => {
      expect(ruled({ description: 'US', attributes: { [path]: 'OB follow-up' } })).toBe(
        'obstetric',
      );
      expect(ruled({ description: 'US', attributes: { [path]: 'Echocardiogram' } })).toBe('echo');
      expect(ruled({ description: 'Echo', attributes: { [path]: 'TEE guidance' } })).toBe(
        'unrecognised',
      );
    },
  );

  it('hold the heart of a child, for which the reference ranges do not apply', () => {
    const description = 'Echocardiogram';
    expect(ruled({ description, attributes: { PatientAge: '017Y' } })).toBe('unrecognised');
    expect(ruled({ description, attributes: { PatientAge: '008M' } })).toBe('unrecognised');
    expect(ruled({ description, attributes: { PatientAge: '018Y' } })).toBe('echo');
  });

  it('classify the images of a study only if it has no description', () => {
    expect(ruled({})).toBe('classify the images');
    expect(ruled({ content: shows('fetus') })).toBe('obstetric');
    expect(ruled({ content: shows('adult heart', 'A4C') })).toBe('echo');
    expect(ruled({ description: 'US', content: shows('fetus') })).toBe('unrecognised');
  });

  it('hold an adult heart if the only view recognized resembles the liver', () => {
    expect(ruled({ content: shows('adult heart', 'subcostal') })).toBe('unrecognised');
  });

  it('hold other modalities', () => {
    expect(ruled({ description: 'Fetal MRI', modality: 'MR' })).toBe('unrecognised');
  });
});
