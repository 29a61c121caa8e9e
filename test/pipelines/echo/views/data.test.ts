import { expect, it } from 'vitest';
import { echoEndpoint } from '../../../../pipelines/echo/endpoint.ts';
import { viewsDataSchema } from '../../../../pipelines/echo/views/section.ts';
import { clipOf, displayOf } from '../clip-sample.ts';
import { interpreted } from '../interpret-sample.ts';

/**
 * Returns a spectral display from this file, in the form in which the section lists the images of a
 * study.
 */
const spectrumIn = (file: string) => {
  const image = clipOf(null, 'spectral');
  return { ...image, clip: { ...image.clip, file } };
};

it("the section's list of views matches the API description", () => {
  const clips = [clipOf('PLAX'), clipOf('A4C', 'colour'), { ...clipOf('A2C'), view: null }];
  const { result, section } = interpreted(
    {},
    'model',
    {},
    { clips, spectra: [displayOf('lvot', 'pw')] },
  );
  const { clips: listed, spectra } = viewsDataSchema.parse(section('views')?.data);
  expect(listed.map(({ view }) => view)).toEqual(['PLAX', 'A4C', null]);
  expect(spectra).toMatchObject([{ shows: 'lvot' }]);
  expect(echoEndpoint.output.safeParse(result).error).toBeUndefined();
});

it('the section states which images were not measured and why, without file names', () => {
  const refused = (flow: 'mitral-inflow' | 'lvot', refusal: 'aliased' | 'no-flow') => ({
    ...displayOf(flow, 'pw' as const),
    refusal,
  });
  const spectra = [refused('mitral-inflow', 'aliased'), refused('lvot', 'no-flow')];
  const named = { ...clipOf(null), belowGate: 'PSAX-PM', confidence: 0.4 } as const;
  const clips = [clipOf('A4C'), named, ...spectra.map(({ file }) => spectrumIn(file))];
  const { section } = interpreted({}, 'model', {}, { clips, spectra });
  const text = section('views')?.summary ?? '';
  expect(text).toMatch(
    /measured on (it|them): image 2 \(perhaps PSAX at the papillary muscles\)\./,
  );
  expect(text).toContain(
    'image 3 (Mitral inflow, pulsed Doppler): the flow wraps around the end of the scale (aliasing)',
  );
  expect(text).toContain('image 4 (LVOT, pulsed Doppler): no flow stands out from the noise');
  expect(text).not.toContain('.dcm');
});
