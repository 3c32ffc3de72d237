/** Where programs get their packages from: the hosts of the usual clients. */
export const packageHosts: readonly string[] = [
  // JavaScript
  'registry.npmjs.org',
  'registry.yarnpkg.com',
  'repo.yarnpkg.com',
  'nodejs.org',
  'jsr.io',
  'npm.jsr.io',
  'deno.land',
  // Python
  'pypi.org',
  'files.pythonhosted.org',
  'conda.anaconda.org',
  'repo.anaconda.com',
  // Rust
  'crates.io',
  'index.crates.io',
  'static.crates.io',
  'static.rust-lang.org',
  // Go
  'proxy.golang.org',
  'sum.golang.org',
  'go.dev',
  // Ruby, PHP, .NET, Elixir, Dart, Haskell, R, Perl
  'rubygems.org',
  'index.rubygems.org',
  'packagist.org',
  'repo.packagist.org',
  'api.nuget.org',
  'repo.hex.pm',
  'pub.dev',
  'hackage.haskell.org',
  'cran.r-project.org',
  'cpan.metacpan.org',
  // Java
  'repo.maven.apache.org',
  'repo1.maven.org',
  'maven.google.com',
  'plugins.gradle.org',
  'services.gradle.org',
  'downloads.gradle.org',
  // Systems
  'deb.debian.org',
  'security.debian.org',
  'archive.ubuntu.com',
  'security.ubuntu.com',
  'ports.ubuntu.com',
  'dl-cdn.alpinelinux.org',
]
