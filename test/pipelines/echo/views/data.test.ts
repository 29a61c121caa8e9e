import { expect, it } from 'vitest';
import { echoEndpoint } from '../../../../pipelines/echo/endpoint.ts';
import { viewsDataSchema } from '../../../../pipelines/echo/views/section.ts';
import { clipOf, displayOf } from '../clip-sample.ts';
import { interpreted } from '../interpret-sample.ts';

it('what the section of the views lists is what the API describes', () => {
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

it('the text of the section says which displays were not measured, and why', () => {
  const refused = (flow: 'mitral-inflow' | 'lvot', refusal: 'aliased' | 'no-flow') => ({
    ...displayOf(flow, 'pw' as const),
    refusal,
  });
  const spectra = [refused('mitral-inflow', 'aliased'), refused('lvot', 'no-flow')];
  const { section } = interpreted({}, 'model', {}, { clips: [clipOf('A4C')], spectra });
  const text = section('views')?.summary ?? '';
  expect(text).toContain(
    'mitral-inflow.dcm (Mitral inflow, pulsed Doppler): the flow wraps around the end of the scale (aliasing)',
  );
  expect(text).toContain('lvot.dcm (LVOT, pulsed Doppler): no flow stands out from the noise');
});
