// The control plane of Envoy's controls ads and ads-delta: a snapshot of go-control-plane for each node, which is staged
// (parsed) and committed over HTTP, and served over gRPC.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpoint "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listener "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	// The extensions that src/dataplanes/envoy/config.js and features.js name.
	_ "github.com/envoyproxy/go-control-plane/envoy/config/trace/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/file/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/filters/cel/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/stream/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/lua/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/tls_inspector/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
)

const library = "github.com/envoyproxy/go-control-plane"

func main() {
	log.SetFlags(0)
	version := flag.Bool("version", false, "print the version of go-control-plane, and end")
	httpAddress := flag.String("http", "127.0.0.1:6070", "where configurations are staged and committed")
	grpcAddress := flag.String("grpc", "127.0.0.1:6071", "where Envoys ask for them")
	names := flag.String("names", "", "be no server, but clients of one, with the names in this file")
	source := flag.String("node-of", "127.0.0.1:6070", "clients: where the server tells the node of a real Envoy")
	delta := flag.Bool("delta", false, "clients: ask for what changed alone")
	every := flag.Duration("every", 0, "clients: the time from one to the next")
	flag.Parse()
	if *version {
		printVersion()
		return
	}
	if *names != "" {
		log.Fatal(runClients(*httpAddress, *grpcAddress, *source, *names, *delta, *every))
	}
	plane := newControlPlane()
	go func() { log.Fatal(http.ListenAndServe(*httpAddress, plane.handler())) }()
	listening, err := net.Listen("tcp", *grpcAddress)
	if err != nil {
		log.Fatal(err)
	}
	grpcServer := grpc.NewServer()
	adsServer := server.NewServer(context.Background(), plane.cache, plane.callbacks())
	discovery.RegisterAggregatedDiscoveryServiceServer(grpcServer, adsServer)
	log.Fatal(grpcServer.Serve(listening))
}

// printVersion prints the version of go-control-plane, or exits with 1 if the program has no build information, or none with it.
func printVersion() {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == library {
				fmt.Println("go-control-plane", module.Version, info.GoVersion)
				return
			}
		}
	}
	fmt.Fprintln(os.Stderr, "built without the version of", library)
	os.Exit(1)
}

type controlPlane struct {
	cache  cache.SnapshotCache
	mutex  sync.Mutex
	staged map[string]*cache.Snapshot
	first  atomic.Pointer[core.Node] // the node of the first request; nil: no Envoy has asked yet
}

func newControlPlane() *controlPlane {
	return &controlPlane{cache: cache.NewSnapshotCache(true, cache.IDHash{}, nil), staged: map[string]*cache.Snapshot{}}
}

// handler stages (PUT) and commits (POST) configurations, and shows the node of the first Envoy that asked, in protobuf. It answers 400 to
// what cannot be done, as before an Envoy has asked.
func (p *controlPlane) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /nodes/{node}", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = p.stage(r.PathValue("node"), body)
		}
		answerError(w, err)
	})
	mux.HandleFunc("POST /nodes/{node}/commit", func(w http.ResponseWriter, r *http.Request) {
		answerError(w, p.commit(r.Context(), r.PathValue("node")))
	})
	mux.HandleFunc("GET /node", func(w http.ResponseWriter, r *http.Request) {
		body, err := proto.Marshal(p.first.Load())
		if err == nil && len(body) == 0 {
			err = errors.New("no Envoy has asked yet")
		}
		if err != nil {
			answerError(w, err)
			return
		}
		w.Write(body)
	})
	return mux
}

// answerError answers 400 if there is an error, and else leaves the answer 200.
func answerError(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// stage parses and keeps the resources of a node, without sending them to its Envoy, in place of those that were staged before. Resources
// that cannot be parsed are an error, and leave these.
func (p *controlPlane) stage(node string, body []byte) error {
	snapshot, err := parseSnapshot(body)
	if err != nil {
		return fmt.Errorf("staging %s: %w", node, err)
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.staged[node] = snapshot
	return nil
}

// commit publishes the snapshot that was staged for a node, which can be committed once, and returns an error if there is none, or the
// cache does not take it.
func (p *controlPlane) commit(ctx context.Context, node string) error {
	p.mutex.Lock()
	snapshot := p.staged[node]
	delete(p.staged, node)
	p.mutex.Unlock()
	if snapshot == nil {
		return errors.New("committing " + node + ": nothing was staged for it")
	}
	return p.cache.SetSnapshot(ctx, node, snapshot)
}

// The types of resources, by their names in a body.
var kinds = []struct {
	name   string
	kind   types.ResponseType
	create func() types.Resource
}{
	{"clusters", types.Cluster, func() types.Resource { return &cluster.Cluster{} }},
	{"endpoints", types.Endpoint, func() types.Resource { return &endpoint.ClusterLoadAssignment{} }},
	{"listeners", types.Listener, func() types.Resource { return &listener.Listener{} }},
	{"routes", types.Route, func() types.Resource { return &route.RouteConfiguration{} }},
}

// parseSnapshot parses the JSON of resources by type. Each type gets the hash of its texts as its version, so that an Envoy is sent only
// those that have changed. A type that the body lacks is empty, and one that kinds lacks is ignored; what cannot be parsed is an error.
func parseSnapshot(body []byte) (*cache.Snapshot, error) {
	var parts map[string][]json.RawMessage
	if err := json.Unmarshal(body, &parts); err != nil {
		return nil, err
	}
	snapshot := &cache.Snapshot{}
	for _, entry := range kinds {
		hash := fnv.New64a()
		var resources []types.Resource
		for _, text := range parts[entry.name] {
			resource := entry.create()
			if err := protojson.Unmarshal(text, resource); err != nil {
				return nil, fmt.Errorf("%s: %w", entry.name, err)
			}
			hash.Write(text)
			resources = append(resources, resource)
		}
		snapshot.Resources[entry.kind] = cache.NewResources(fmt.Sprintf("%x", hash.Sum64()), resources)
	}
	return snapshot, nil
}

// callbacks end the stream of an Envoy that did not accept a resource: go-control-plane would send it again at once, and for
// ever. They keep the node of the first request. With deltas an Envoy names itself in the first request of a stream alone.
func (p *controlPlane) callbacks() server.Callbacks {
	var names sync.Map
	return server.CallbackFuncs{
		StreamRequestFunc: func(_ int64, r *discovery.DiscoveryRequest) error {
			p.first.CompareAndSwap(nil, r.GetNode())
			return logRefusal(r.GetNode().GetId(), r.GetTypeUrl(), r.GetErrorDetail())
		},
		StreamDeltaRequestFunc: func(stream int64, r *discovery.DeltaDiscoveryRequest) error {
			p.first.CompareAndSwap(nil, r.GetNode())
			name, _ := names.LoadOrStore(stream, r.GetNode().GetId())
			return logRefusal(name.(string), r.GetTypeUrl(), r.GetErrorDetail())
		},
		DeltaStreamClosedFunc: func(stream int64, _ *core.Node) { names.Delete(stream) },
	}
}

// logRefusal logs a resource that an Envoy refused, in one line, as src/dataplanes/envoy/ads-control.js reads it, and returns an error that
// ends the stream; nil if the Envoy refused none.
func logRefusal(name, typeURL string, detail *status.Status) error {
	if detail == nil {
		return nil
	}
	// The resource itself comes first, over many lines.
	lines := strings.Split(strings.TrimSpace(detail.GetMessage()), "\n")
	log.Printf("refused %s: %s: %q", name, typeURL, strings.TrimLeft(lines[len(lines)-1], ": "))
	return fmt.Errorf("%s refused %s", name, typeURL)
}
