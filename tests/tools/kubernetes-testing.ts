/* The cluster that tests find running: apart from what starts one, so that a test without one costs nothing. */

/** What a test needs to know of a cluster that runs; it travels as JSON in `TEST_KUBERNETES`. */
export interface TestingCluster {
  /** Of an administrator, and of the account that deploy/kubernetes makes. */
  kubeconfig: string
  accountKubeconfig: string
  namespace: string
  nodeAddress: string
  storageClass: string
  /** Shell, git, socat and the usual programs, of this machine. */
  image: string
  /** BusyBox and nothing else; undefined where this machine has no static one. */
  busyboxImage: string | null
  /** Socket of the node's runtime. */
  runtime: string
  folder: string
}

/** The cluster that `npm run test:kubernetes` started, or why there is none. */
export function testingCluster(): TestingCluster | string {
  const said = process.env['TEST_KUBERNETES']
  return said === undefined
    ? 'no cluster runs (npm run test:kubernetes starts one)'
    : (JSON.parse(said) as TestingCluster)
}
