import { type Clip, UNDESCRIBED } from '../../../pipelines/contract/study.ts';
import type { Flow } from '../../../pipelines/echo/displays/flows.ts';
import type { DisplayReading, MModeStructure } from '../../../pipelines/echo/displays/reading.ts';
import type { ClipView } from '../../../pipelines/echo/locate/reader.ts';

/** Creates a clip without pixels whose header states the view. */
export function clipOf(view: ClipView['view'], mode: Clip['mode'] = '2d'): ClipView {
  const clip: Clip = {
    ...UNDESCRIBED,
    file: `${view}-${mode}.dcm`,
    width: 64,
    height: 64,
    frames: [],
    regions: [],
    calibrationRefused: null,
    mode,
  };
  return {
    clip,
    view,
    source: 'header',
    confidence: null,
    belowGate: null,
    unseparated: false,
    underStress: false,
    fan: null,
  };
}

/** Creates a display that its header identifies and on which nothing was measured. */
export function displayOf(
  flow: Flow | MModeStructure,
  kind: DisplayReading['kind'],
): DisplayReading {
  return {
    file: `${flow}.dcm`,
    sopInstanceUid: null,
    frame: 0,
    kind,
    flow,
    namedBy: 'header',
    nameConfidence: 1,
    because: null,
    peak: null,
    side: null,
    beats: 0,
    regular: null,
    confidence: 0,
    refusal: null,
    trace: null,
    quantities: [],
  };
}
