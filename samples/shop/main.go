package main

// Username hier.
func main() {
}
