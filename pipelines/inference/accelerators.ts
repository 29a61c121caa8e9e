import { channel } from 'node:diagnostics_channel';
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * Accelerators to try before `cpu`. The processor always works, and the results of accelerators are
 * checked against it.
 */
export const ACCELERATORS = ['cuda', 'webgpu'] as const;
export type Accelerator = (typeof ACCELERATORS)[number];

export interface Host {
  platform: NodeJS.Platform;
  arch: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** Returns true if a file, or a folder that is not empty, exists. */
  holds(path: string): boolean;
}

const CUDA_LIBRARY: Partial<Record<NodeJS.Platform, string>> = {
  linux: 'libonnxruntime_providers_cuda.so',
  win32: 'onnxruntime_providers_cuda.dll',
};

/**
 * Folders in which the Vulkan loader looks for drivers (Khronos loader and layer interface, Linux).
 */
const VULKAN_DRIVERS = [
  '/etc/vulkan/icd.d',
  '/usr/share/vulkan/icd.d',
  '/usr/local/share/vulkan/icd.d',
];
const VULKAN_VARIABLES = ['VK_DRIVER_FILES', 'VK_ICD_FILENAMES'];

const thisHost: Host = {
  platform: process.platform,
  arch: process.arch,
  environment: process.env,
  holds: (path) =>
    existsSync(path) && (!path.endsWith('.d') || readdirSync(path, 'utf8').length > 0),
};

function cudaLibrary({ platform, arch }: Host): string | null {
  const library = CUDA_LIBRARY[platform];
  if (!library) return null;
  const bin = join(
    dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json')),
    'bin',
  );
  const [version = ''] = readdirSync(bin).filter((name) => name.startsWith('napi-'));
  return join(bin, version, platform, arch, library);
}

function reasonAgainst(accelerator: Accelerator, host: Host): string | null {
  const { platform, environment, holds } = host;
  if (accelerator === 'cuda') {
    const library = cudaLibrary(host);
    return library && holds(library) ? null : 'the CUDA library of onnxruntime is not installed';
  }
  // On other platforms, the driver is part of the operating system (Metal, Direct3D).
  if (platform !== 'linux') return null;
  const found =
    VULKAN_VARIABLES.some((name) => environment[name]) ||
    VULKAN_DRIVERS.some((path) => holds(path));
  return found ? null : 'no Vulkan driver is installed';
}

/**
 * Returns the accelerators that might load on a host, and why each of the others cannot. Only files
 * are checked, because trying a missing device would make the library print errors into the
 * operator's log.
 */
export function acceleratorsOf(host: Host = thisHost): {
  present: Accelerator[];
  absent: { accelerator: Accelerator; reason: string }[];
} {
  const judged = ACCELERATORS.map((accelerator) => ({
    accelerator,
    reason: reasonAgainst(accelerator, host),
  }));
  return {
    present: judged.flatMap(({ accelerator, reason }) => (reason === null ? [accelerator] : [])),
    absent: judged.flatMap(({ accelerator, reason }) =>
      reason === null ? [] : [{ accelerator, reason }],
    ),
  };
}

/** Why a model runs on the processor although an accelerator was requested or might exist. */
export const ACCELERATOR_REFUSALS = {
  absent: 'is not on this host',
  unloadable: 'does not load',
  different: 'gives other results than the processor',
  software: 'is a software renderer',
  slower: 'is slower than the processor',
  failed: 'failed during a run, which was repeated on the processor',
} as const;

export interface AcceleratorRefusal {
  accelerator: Accelerator;
  why: keyof typeof ACCELERATOR_REFUSALS;
  /** Detail for the operator: the library's message, or the measured numbers. */
  detail: string;
}

export interface AcceleratorRefusalOfModel extends AcceleratorRefusal {
  model: string;
}

export const ACCELERATOR_REFUSAL = channel('sonogate:accelerator-refusal');
