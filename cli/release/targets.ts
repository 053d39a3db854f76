// The systems that a release supports, and the runtime of each executable.

/** A system that a release supports. */
export interface ReleaseTarget {
  /** Part of the executable's name. */
  name: string;
  /** What Bun calls it: `bun build --target`, and the package of the runtime (`@oven/…`). */
  bun: string;
  /** SHA-256 of the runtime of the pinned Bun, from the registry's package. */
  runtime: string;
}

// In build order.
const RUNTIMES = {
  'linux-x64': 'f05d28a3862f4b84395c7fa32480b835dd47482e80b7e7a49a115227f0c06083',
  'linux-x64-musl': 'cf5d285ddbe256785a5121a3c113191a6b577504976374c7cfd5aedca609b720',
  'linux-arm64': '04778f1f42399a69d086853e9c7af4acf574b2f21a43d0dc673853d8b84a2923',
  'linux-arm64-musl': '9c48986093073afec8b76a3e285303598dd2462f52748aecb65e4d94866e1ea3',
  'macos-x64': '88f97645b270aef20f9f9442f1658461cab3e7128e658af4615144e3396f084a',
  'macos-arm64': 'e2984124f1514e1e6bbda20adedbf07a02c443c6a5828853a15c7c7abf78e19f',
  'windows-x64': 'e06ad0864463c68892ae71a2a64af7eae1585cac5dd9b80bc042f45605587cb1',
};

/** All targets, in build order. */
export const TARGETS: readonly ReleaseTarget[] = Object.entries(RUNTIMES).map(([name, runtime]) => ({
  name,
  bun: `bun-${name.replace('macos', 'darwin').replace('arm64', 'aarch64')}`,
  runtime,
}));

/** The name of a target's executable. */
export function executableOf(target: ReleaseTarget, version: string): string {
  return `crm-${version}-${target.name}${target.name.startsWith('windows') ? '.exe' : ''}`;
}
