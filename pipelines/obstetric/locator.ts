import type { OpenModel } from '../result/assemble.ts';
import type { BrainModels } from './anomaly-screen/read.ts';
import type { StructureModels } from './biometry/read.ts';
import type { LocatorUncertainty } from './evidence.ts';
import type { ChestModels } from './fetal-heart/read.ts';
import type { SymphysisHeadModels } from './labor-progress/read.ts';
import type { MidsagittalModels } from './nt/read.ts';
import type { PlaneModels } from './planes/read.ts';
import type { UterineModels } from './shared/uterine-maps.ts';

/**
 * Finds planes and structures in images, for the readers of all sections. A member is null if no
 * permitted model can do its task. A function of several images returns one entry per image.
 */
export interface Locator
  extends PlaneModels,
    StructureModels,
    SymphysisHeadModels,
    MidsagittalModels,
    UterineModels,
    ChestModels,
    BrainModels {
  uncertainty: LocatorUncertainty;
  /** The open models, and whether each has run. */
  models: readonly OpenModel[];
}
